-- Take out of a scope what is gone or has expired, unless it was written anew in the meantime.
-- KEYS: index, vectors, then the record key of each id
-- ARGV: for each id: the id, and the expired JSON (or '' where there was none)
for at = 1, #ARGV, 2 do
  local key = KEYS[2 + (at + 1) / 2]
  local stored = redis.call('MGET', key)[1]
  if not stored or stored == ARGV[at + 1] then
    if stored then
      redis.call('DEL', key)
    end
    redis.call('SREM', KEYS[1], ARGV[at])
    redis.call('HDEL', KEYS[2], ARGV[at])
  end
end
