-- The page of the dashboard that a person was on their way to when they left for their identity provider.
ALTER TABLE sso_attempts ADD COLUMN return_to TEXT;
