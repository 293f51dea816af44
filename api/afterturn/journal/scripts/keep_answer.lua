-- Keep an extractor's answer while its turn waits for it; a turn that was forgotten meanwhile gets none.
-- The first answer stays: a task that outlived its lease must not replace what another has built on.
-- KEYS: the scope's unextracted turns, its pending turns, its extraction answers
-- ARGV: turn id, answer
-- Returns the answer that counts.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 and redis.call('HEXISTS', KEYS[2], ARGV[1]) == 0 then
  return ARGV[2]
end
redis.call('HSETNX', KEYS[3], ARGV[1], ARGV[2])
return redis.call('HGET', KEYS[3], ARGV[1])
