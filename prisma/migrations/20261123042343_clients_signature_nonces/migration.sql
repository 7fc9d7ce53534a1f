-- Nonces of signed calls that were seen. A credential belongs to one workspace, so its ID names the workspace too.
CREATE TABLE "signature_nonces" (
    "credential_id" UUID NOT NULL,
    "nonce_digest" BYTEA NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "signature_nonces_pkey" PRIMARY KEY ("credential_id","nonce_digest")
);

CREATE INDEX "signature_nonces_expires_at_idx" ON "signature_nonces"("expires_at");

REVOKE ALL ON signature_nonces FROM sallyport_app;
