-- Takes one unit of a person's reveal budget and says how many were taken before it in the window. Reveals call it, and so does a change of one workspace
-- that sends a stored credential to another place: no transaction of a workspace reads the ledger itself. Nothing is taken when there is no room.
-- clock_timestamp(): waiting for the lock must not shift the window.
CREATE FUNCTION take_reveal_room(person uuid, in_tenant uuid, of_route text, request text, most int, window_sec int)
RETURNS TABLE (taken int, wait double precision) LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('reveal:' || person::text, 0));
  SELECT count(*)::int, extract(epoch FROM min(l.at) + make_interval(secs => window_sec) - clock_timestamp())::float8 INTO taken, wait
    FROM reveal_ledger l WHERE l.user_id = person AND l.at > clock_timestamp() - make_interval(secs => window_sec);
  IF taken < most THEN
    INSERT INTO reveal_ledger (user_id, tenant_id, at, route, request_id) VALUES (person, in_tenant, clock_timestamp(), of_route, request);
  END IF;
  RETURN NEXT;
END $$;
REVOKE ALL ON FUNCTION take_reveal_room FROM PUBLIC;
GRANT EXECUTE ON FUNCTION take_reveal_room TO sallyport_app;
