-- A link and what was sent to it end after five minutes.
SELECT lease_rows('payload_captures', 'payload_capture', '{expires_at}');
