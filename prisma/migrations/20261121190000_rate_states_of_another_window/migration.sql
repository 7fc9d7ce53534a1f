-- A route's window may be made longer, its burst be switched off, a clock be set right: numbers of windows that lie apart then mean nothing. Counted on,
-- they would close the limit until they come true, which is never; and a bucket that was filled ahead of time would not fill again until then.
CREATE OR REPLACE FUNCTION take_rate(keys text[], limits float8[], windows float8[], bursts float8[])
RETURNS TABLE (now_ms float8, a float8, b float8, at_ms float8, ok boolean) LANGUAGE plpgsql AS $$
DECLARE
  n integer := cardinality(keys);
  t float8; every boolean := true; i integer; held record; elapsed float8; idx float8;
  va float8[] := array_fill(0::float8, ARRAY[n]); vb float8[] := array_fill(0::float8, ARRAY[n]);
  vat float8[] := array_fill(0::float8, ARRAY[n]); vok boolean[] := array_fill(false, ARRAY[n]);
BEGIN
  INSERT INTO rate_states AS s (key, a, b, at_ms, expires_at)
    SELECT k, -1, 0, 0, clock_timestamp() + interval '1 day' FROM unnest(keys) AS k ORDER BY k
    ON CONFLICT (key) DO UPDATE SET expires_at = s.expires_at;
  t := floor(extract(epoch FROM clock_timestamp()) * 1000);
  FOR i IN 1..n LOOP
    SELECT s.a, s.b, s.at_ms INTO held FROM rate_states s WHERE s.key = keys[i];
    IF bursts[i] > 0 THEN
      IF held.a < 0 THEN va[i] := bursts[i]; vat[i] := t;
      ELSE vat[i] := CASE WHEN held.at_ms - t > 1000 THEN t ELSE greatest(t, held.at_ms) END;
        va[i] := least(bursts[i], held.a + greatest(0, vat[i] - held.at_ms) * limits[i] / windows[i]); END IF;
      vok[i] := va[i] >= 1 - 1e-9;
    ELSE
      idx := floor(t / windows[i]);
      IF held.a < 0 OR abs(idx - held.at_ms) > 1 THEN vat[i] := idx;
      ELSIF idx = held.at_ms + 1 THEN va[i] := held.b; vat[i] := idx;
      ELSE va[i] := held.a; vb[i] := held.b; vat[i] := held.at_ms; END IF;
      elapsed := least(greatest(t - vat[i] * windows[i], 0), windows[i]);
      vok[i] := floor(va[i] * (windows[i] - elapsed) / windows[i]) + vb[i] < limits[i];
    END IF;
    every := every AND vok[i];
  END LOOP;
  FOR i IN 1..n LOOP
    IF every AND bursts[i] > 0 THEN va[i] := greatest(0, va[i] - 1); ELSIF every THEN vb[i] := vb[i] + 1; END IF;
    UPDATE rate_states s SET a = va[i], b = vb[i], at_ms = vat[i],
      expires_at = to_timestamp((t + CASE WHEN bursts[i] > 0 THEN (bursts[i] - va[i]) * windows[i] / limits[i] + 1000 ELSE windows[i] * 2 END) / 1000)
      WHERE s.key = keys[i];
    now_ms := t; a := va[i]; b := vb[i]; at_ms := vat[i]; ok := vok[i];
    RETURN NEXT;
  END LOOP;
END $$;
