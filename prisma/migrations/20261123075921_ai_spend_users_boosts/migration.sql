-- Users are seen with every call: gateways look them up one by one and are told of no change.
SELECT register_table('ai_attributed_users', 'space');

-- A budget that is raised for a while, and the percentages of a budget that give an alert (interface rule 50 §14.4).
ALTER TABLE "ai_gateways" ADD COLUMN "budget_boost" JSONB, ADD COLUMN "alert_thresholds" INTEGER[] NOT NULL DEFAULT ARRAY[50, 80, 100];
ALTER TABLE "ai_agents" ADD COLUMN "budget_boost" JSONB, ADD COLUMN "alert_thresholds" INTEGER[] NOT NULL DEFAULT ARRAY[50, 80, 100];
