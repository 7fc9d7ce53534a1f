-- Limits of an hour and longer outlive the store that counts them: what each stood at, written every second by the processes that count. `key` is a digest,
-- since counters per caller have addresses in theirs. Unlike the tables of counters themselves it survives a crash and a failover.
CREATE TABLE "kept_rates" (
    "key" TEXT NOT NULL,
    "window_ms" DOUBLE PRECISION NOT NULL,
    "is_bucket" BOOLEAN NOT NULL,
    "a" DOUBLE PRECISION NOT NULL,
    "b" DOUBLE PRECISION NOT NULL,
    "at_ms" DOUBLE PRECISION NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "kept_rates_pkey" PRIMARY KEY ("key")
);
CREATE INDEX "kept_rates_expires_at_idx" ON "kept_rates"("expires_at");
REVOKE ALL ON kept_rates FROM sallyport_app;

-- Decides as take_rate does, from what the caller remembers where the table of counters has lost it.
CREATE FUNCTION take_kept_rate(keys text[], limits float8[], windows float8[], bursts float8[], seeds_a float8[], seeds_b float8[], seeds_at float8[])
RETURNS TABLE (now_ms float8, a float8, b float8, at_ms float8, ok boolean) LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO rate_states (key, a, b, at_ms, expires_at)
    SELECT s.key, s.a, s.b, s.at_ms, clock_timestamp() + interval '2 days' FROM unnest(keys, seeds_a, seeds_b, seeds_at) AS s(key, a, b, at_ms)
    WHERE s.at_ms >= 0 ORDER BY s.key ON CONFLICT (key) DO NOTHING;
  RETURN QUERY SELECT r.now_ms, r.a, r.b, r.at_ms, r.ok FROM take_rate(keys, limits, windows, bursts) AS r;
END $$;
