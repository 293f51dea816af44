-- Move a turn that is held to its next stage.
-- KEYS: the due set that it leaves, the turn's status, the due set that it enters
-- ARGV: turn id, token, next stage, its state, receipts (JSON) or ''
-- Returns 1, or 0 if the lease had ended and somebody else holds the turn.
if redis.call('HGET', KEYS[2], 'token') ~= ARGV[2] then
  return 0
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('ZADD', KEYS[3], now, ARGV[1])
redis.call('HSET', KEYS[2], 'state', ARGV[4], 'stage', ARGV[3], 'token', '', 'attempts', 0, 'retries', 0)
redis.call('HSETNX', KEYS[2], 'at:' .. ARGV[4], now)
redis.call('HDEL', KEYS[2], 'error')
if ARGV[5] ~= '' then
  redis.call('HSET', KEYS[2], 'receipts', ARGV[5])
end
return 1
