-- Company details of a workspace (spec 20 §6); the country is there already. The lease of deletion ends the 14 days of a deleted workspace.
ALTER TABLE "tenants" ADD COLUMN "address" TEXT, ADD COLUMN "city" TEXT, ADD COLUMN "postal_code" TEXT, ADD COLUMN "tax_id_type" TEXT, ADD COLUMN "tax_id_value" TEXT,
  ADD COLUMN "erased_at" TIMESTAMPTZ(3);
ALTER TABLE "tenants" ADD CONSTRAINT "tax_id_whole" CHECK (("tax_id_type" IS NULL) = ("tax_id_value" IS NULL));
CREATE TRIGGER deletion_lease AFTER UPDATE OF deleted_at ON tenants FOR EACH ROW
  WHEN (NEW.deleted_at IS DISTINCT FROM OLD.deleted_at) EXECUTE FUNCTION wake_lease('tenant_deletion', 'id', 'make');
