-- Prices of speech (per million characters) and of transcription (per minute of audio).
ALTER TABLE "ai_prices" ADD COLUMN "input_per_mchar" DECIMAL(14,6), ADD COLUMN "per_audio_minute_usd" DECIMAL(14,6);
