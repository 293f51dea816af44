-- Note that a turn's raw messages are written, where the store is not the journal's own scope.
-- KEYS: the scope's pending turns, its unextracted turns
-- ARGV: turn id
local payload = redis.call('HGET', KEYS[1], ARGV[1])
if payload then
  redis.call('HSET', KEYS[2], ARGV[1], payload)
  redis.call('HDEL', KEYS[1], ARGV[1])
end
return 1
