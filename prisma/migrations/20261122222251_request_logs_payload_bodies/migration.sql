-- Why a body isn't kept, so that nobody spends a reveal to find out.
ALTER TABLE log_payloads ADD COLUMN body_withheld TEXT;
