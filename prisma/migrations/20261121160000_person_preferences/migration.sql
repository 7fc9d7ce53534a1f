-- How a person wants the dashboard to look and behave (interface rule 70 §13); of the person, in every workspace.
ALTER TABLE "users" ADD COLUMN "preferences" JSONB NOT NULL DEFAULT '{}';
