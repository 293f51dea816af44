-- Put written records into a scope, unless it was forgotten after their turn was accepted.
-- KEYS: index, vectors, fence, pending turns, unextracted turns, extraction answers, then each record's own key
-- ARGV: turn id or '' (no turn of the journal), the turn's generation, 1 if nothing more follows for the turn,
--       then of each record: id, packed vector or '', JSON, expiry in ms or ''
-- Returns the ids that are new in the index, or nil if the write is void.
local turn = ARGV[1]
if turn ~= '' and tonumber(redis.call('GET', KEYS[3]) or '0') > tonumber(ARGV[2]) then
  return false
end
local added = {}
for number = 1, #KEYS - 6 do
  local at = 4 * number
  if ARGV[at + 3] ~= '' then
    redis.call('SET', KEYS[6 + number], ARGV[at + 2], 'PXAT', ARGV[at + 3])
  else
    redis.call('SET', KEYS[6 + number], ARGV[at + 2])
  end
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
