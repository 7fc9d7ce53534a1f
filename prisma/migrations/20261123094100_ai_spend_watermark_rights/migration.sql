-- A position in the stream of usage events, without data of any workspace: everybody reads it, and only the job that adds events up moves it.
ALTER TABLE "ai_usage_watermark" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "ai_usage_watermark_read" ON "ai_usage_watermark" FOR SELECT USING (true);
