-- Prices of images: tokens of pictures, pictures that are sent along, and one price for each size and quality.
ALTER TABLE "ai_prices" ADD COLUMN "image_input_per_mtok" DECIMAL(14,6), ADD COLUMN "image_output_per_mtok" DECIMAL(14,6),
  ADD COLUMN "per_input_image_usd" DECIMAL(14,6), ADD COLUMN "image_prices" JSONB;
