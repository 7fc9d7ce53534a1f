import type { FamilyBench } from '#scripts/bench/family-bench.ts';

export const bench: FamilyBench = {
  lists: {
    roles: { order: 110, path: '/v1/roles' },
  },
};
