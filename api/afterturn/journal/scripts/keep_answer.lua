-- Keep an extractor's answer while its turn waits for it; a turn that was forgotten meanwhile gets none.
-- KEYS: the scope's unextracted turns, its pending turns, its extraction answers
-- ARGV: turn id, answer
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 and redis.call('HEXISTS', KEYS[2], ARGV[1]) == 0 then
  return 0
end
redis.call('HSET', KEYS[3], ARGV[1], ARGV[2])
return 1
