-- When the weekly summary of a space was last mailed: one that is interrupted or run twice mails once.
ALTER TABLE "opportunity_watermarks" ADD COLUMN "mailed_at" TIMESTAMPTZ(3);
