-- The palette finds a suggestion by its host and by what its service is called.
CREATE FUNCTION opportunity_document(r opportunities) RETURNS search_document LANGUAGE sql STABLE AS $$
  SELECT r.destination_host, 'Opportunity, ' || CASE r.status WHEN 'onboarded' THEN 'accepted' ELSE r.status END, ARRAY[r.service], r.service $$;
SELECT register_table('opportunities', 'space', counted => true, document => 'opportunity', document_columns => '{destination_host,service,status}',
  search_text => $$"destination_host" || ' ' || "service"$$);
