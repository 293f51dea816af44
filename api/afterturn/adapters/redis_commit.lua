-- Put written records into a scope, unless it was forgotten after their turn was accepted.
-- KEYS: index, vectors, fence, pending turns, unextracted turns, extraction answers
-- ARGV: turn id or '' (no turn of the journal), the turn's generation, 1 if nothing more follows for the turn,
--       then id and packed vector (or '') of each record
-- Returns the ids that are new in the index, or nil if the write is void.
local turn = ARGV[1]
if turn ~= '' and tonumber(redis.call('GET', KEYS[3]) or '0') > tonumber(ARGV[2]) then
  return false
end
local added = {}
for at = 4, #ARGV, 2 do
  if redis.call('SADD', KEYS[1], ARGV[at]) == 1 then
    added[#added + 1] = ARGV[at]
  end
  if ARGV[at + 1] ~= '' then
    redis.call('HSET', KEYS[2], ARGV[at], ARGV[at + 1])
  else
    redis.call('HDEL', KEYS[2], ARGV[at])
  end
end
if turn ~= '' then
  if ARGV[3] == '1' then
    redis.call('HDEL', KEYS[4], turn)
    redis.call('HDEL', KEYS[5], turn)
    redis.call('HDEL', KEYS[6], turn)
  else
    local payload = redis.call('HGET', KEYS[4], turn)
    if payload then
      redis.call('HSET', KEYS[5], turn, payload)
      redis.call('HDEL', KEYS[4], turn)
    end
  end
end
return added
