-- Decides as take_rate does, after the counters are told what the caller remembers of them (whichever leaves less counts) and the calls that it admitted without
-- them. The function of seven arguments is what machines of the release before call: it knows of no calls owed, and of a counter that began anew nothing.
CREATE FUNCTION take_kept_rate(
  keys text[], limits float8[], windows float8[], bursts float8[], seeds_a float8[], seeds_b float8[], seeds_at float8[], owed float8[])
RETURNS TABLE (now_ms float8, a float8, b float8, at_ms float8, ok boolean) LANGUAGE plpgsql AS $$
DECLARE
  t float8; i integer; va float8; vb float8; vat float8; idx float8; per_ms float8;
BEGIN
  INSERT INTO rate_states AS s (key, a, b, at_ms, expires_at)
    SELECT k, -1, 0, 0, clock_timestamp() + interval '2 days' FROM unnest(keys) AS k ORDER BY k
    ON CONFLICT (key) DO UPDATE SET expires_at = s.expires_at;
  t := floor(extract(epoch FROM clock_timestamp()) * 1000);
  FOR i IN 1..cardinality(keys) LOOP
    SELECT s.a, s.b, s.at_ms INTO va, vb, vat FROM rate_states s WHERE s.key = keys[i];
    IF bursts[i] > 0 THEN
      per_ms := limits[i] / windows[i];
      IF seeds_at[i] >= 0 AND seeds_at[i] - t <= 1000 AND (va < 0
          OR seeds_a[i] + greatest(0, t - seeds_at[i]) * per_ms < least(bursts[i], va + greatest(0, t - vat) * per_ms)) THEN
        va := seeds_a[i]; vb := 0; vat := seeds_at[i];
      END IF;
      IF owed[i] > 0 THEN
        IF va < 0 THEN va := bursts[i]; vat := t; END IF;
        va := greatest(0, least(bursts[i], va + greatest(0, t - vat) * per_ms) - owed[i]); vb := 0;
        IF t > vat OR vat - t > 1000 THEN vat := t; END IF;
      END IF;
    ELSE
      idx := floor(t / windows[i]);
      IF seeds_at[i] >= 0 AND abs(idx - seeds_at[i]) <= 1 THEN
        IF va < 0 OR vat < seeds_at[i] THEN va := seeds_a[i]; vb := seeds_b[i]; vat := seeds_at[i];
        ELSIF vat = seeds_at[i] THEN va := greatest(va, seeds_a[i]); vb := greatest(vb, seeds_b[i]);
        ELSIF vat = seeds_at[i] + 1 THEN va := greatest(va, seeds_b[i]); END IF;
      END IF;
      IF owed[i] > 0 THEN
        IF va < 0 OR abs(idx - vat) > 1 THEN va := 0; vb := 0; vat := idx;
        ELSIF idx = vat + 1 THEN va := vb; vb := 0; vat := idx; END IF;
        vb := vb + owed[i];
      END IF;
    END IF;
    UPDATE rate_states s SET a = va, b = vb, at_ms = vat WHERE s.key = keys[i];
  END LOOP;
  RETURN QUERY SELECT r.now_ms, r.a, r.b, r.at_ms, r.ok FROM take_rate(keys, limits, windows, bursts) AS r;
END $$;
