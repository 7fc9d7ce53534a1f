-- The timeline is filtered by address: without an index that is a walk over all entries whenever few pass.
CREATE INDEX audit_logs_by_address ON audit_logs (tenant_id, sandbox, ip_address, created_at DESC, seq DESC) WHERE ip_address IS NOT NULL;
