-- The due date that was told last, so that each is told once.
ALTER TABLE "secrets" ADD COLUMN "rotation_told_for" TIMESTAMPTZ(3);
