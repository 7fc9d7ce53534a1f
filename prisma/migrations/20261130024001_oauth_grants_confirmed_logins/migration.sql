-- Whether the client asks for a login that its person confirms with a second factor (acr_values=step_up).
ALTER TABLE oauth_auth_requests ADD COLUMN confirm boolean NOT NULL DEFAULT false;
ALTER TABLE oauth_device_codes ADD COLUMN confirm boolean NOT NULL DEFAULT false;
