-- Take a dead turn's text out of what recall and workers read, and keep it for a replay.
-- KEYS: the scope's pending turns, its unextracted turns, its dead turns, its extraction answers
-- ARGV: turn id
local payload = redis.call('HGET', KEYS[1], ARGV[1]) or redis.call('HGET', KEYS[2], ARGV[1])
if payload then
  redis.call('HSET', KEYS[3], ARGV[1], payload)
end
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('HDEL', KEYS[4], ARGV[1])
return payload and 1 or 0
