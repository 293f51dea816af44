-- Make a turn that is held a dead letter.
-- KEYS: the stage's due set, the turn's status, the dead letters
-- ARGV: turn id, token, error
-- Returns 1, or 0 if the lease had ended and somebody else holds the turn.
if redis.call('HGET', KEYS[2], 'token') ~= ARGV[2] then
  return 0
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[2], 'state', 'dead', 'token', '', 'error', ARGV[3])
redis.call('HSETNX', KEYS[2], 'at:dead', now)
redis.call('ZADD', KEYS[3], now, ARGV[1])
return 1
