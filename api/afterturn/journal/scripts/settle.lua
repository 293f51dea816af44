-- Close a turn's payload after its write, where the store is not the journal's own Redis scope.
-- KEYS: the scope's pending turns, its unextracted turns, its extraction answers
-- ARGV: turn id, 1 if nothing more follows, else 0
local payload = redis.call('HGET', KEYS[1], ARGV[1])
if ARGV[2] == '0' and payload then
  redis.call('HSET', KEYS[2], ARGV[1], payload)
end
redis.call('HDEL', KEYS[1], ARGV[1])
if ARGV[2] == '1' then
  redis.call('HDEL', KEYS[2], ARGV[1])
  redis.call('HDEL', KEYS[3], ARGV[1])
end
return 1
