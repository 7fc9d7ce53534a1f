-- Prices of processing tiers, as shares of the standard price.
ALTER TABLE "ai_prices" ADD COLUMN "flex_discount" DECIMAL(5,4), ADD COLUMN "priority_surcharge" DECIMAL(6,4);
