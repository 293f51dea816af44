-- Make a turn that is held a dead letter: its text leaves what recall and workers read, and is kept for a replay.
-- KEYS: the stage's due set, the turn's status, the dead letters, then the scope's pending turns, its unextracted
--       turns, its dead turns, its extraction answers
-- ARGV: turn id, token, error
-- Returns 1, or 0 if the lease had ended: whoever holds the turn now still needs its text.
if redis.call('HGET', KEYS[2], 'token') ~= ARGV[2] then
  return 0
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local payload = redis.call('HGET', KEYS[4], ARGV[1]) or redis.call('HGET', KEYS[5], ARGV[1])
if payload then
  redis.call('HSET', KEYS[6], ARGV[1], payload)
end
redis.call('HDEL', KEYS[4], ARGV[1])
redis.call('HDEL', KEYS[5], ARGV[1])
redis.call('HDEL', KEYS[7], ARGV[1])
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[2], 'state', 'dead', 'token', '', 'error', ARGV[3])
redis.call('HSETNX', KEYS[2], 'at:dead', now)
redis.call('ZADD', KEYS[3], now, ARGV[1])
return 1
