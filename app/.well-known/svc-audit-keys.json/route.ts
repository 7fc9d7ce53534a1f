import { publicKeyDocument } from '#server/api/audit-keys.ts';

export const dynamic = 'force-dynamic';
export { publicKeyDocument as GET };
