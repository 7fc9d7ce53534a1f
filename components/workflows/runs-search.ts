import { parseAsInteger, parseAsStringLiteral } from 'nuqs/server';
import { EXECUTION_STATUSES, EXECUTION_TRIGGERS } from '#server/domain/workflows/definition.shared.ts';

/** What the address of a list of runs holds. */
export const runsSearch = {
  page: parseAsInteger.withDefault(1),
  status: parseAsStringLiteral(EXECUTION_STATUSES),
  trigger_type: parseAsStringLiteral(EXECUTION_TRIGGERS),
};
type Search = {
  page: number;
  status: (typeof EXECUTION_STATUSES)[number] | null;
  trigger_type: (typeof EXECUTION_TRIGGERS)[number] | null;
};
export const runsInput = ({ page, status, trigger_type }: Search) => ({
  page,
  per_page: 50,
  ...(status === null ? {} : { status }),
  ...(trigger_type === null ? {} : { trigger_type }),
});
