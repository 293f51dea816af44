-- End a turn that is held: its text leaves the journal, its status stays for a while.
-- KEYS: the stage's due set, the turn's status, the scope's pending turns, its unextracted turns, its extraction answers
-- ARGV: turn id, token, state, receipts (JSON) or '', ms that the status stays
-- Returns 1, or 0 if the lease had ended: whoever holds the turn now still needs its text.
if redis.call('HGET', KEYS[2], 'token') ~= ARGV[2] then
  return 0
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HDEL', KEYS[3], ARGV[1])
redis.call('HDEL', KEYS[4], ARGV[1])
redis.call('HDEL', KEYS[5], ARGV[1])
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[2], 'state', ARGV[3], 'stage', '', 'token', '', 'attempts', 0, 'retries', 0)
redis.call('HSETNX', KEYS[2], 'at:' .. ARGV[3], now)
redis.call('HDEL', KEYS[2], 'error')
if ARGV[4] ~= '' then
  redis.call('HSET', KEYS[2], 'receipts', ARGV[4])
end
redis.call('PEXPIRE', KEYS[2], ARGV[5])
return 1
