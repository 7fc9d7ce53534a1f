-- What an environment of a route says of the search is its address. One that inherits it says nothing: ten thousand copies of an environment's settings
-- need not write ten thousand documents again.
DROP TRIGGER index_document ON route_environment_configs;
CREATE TRIGGER index_document AFTER UPDATE OF target_base_url, is_base ON route_environment_configs FOR EACH ROW EXECUTE FUNCTION index_document('route');
CREATE TRIGGER index_inserted AFTER INSERT ON route_environment_configs FOR EACH ROW WHEN (NEW.target_base_url IS NOT NULL) EXECUTE FUNCTION index_document('route');
CREATE TRIGGER index_deleted AFTER DELETE ON route_environment_configs FOR EACH ROW WHEN (OLD.target_base_url IS NOT NULL) EXECUTE FUNCTION index_document('route');
