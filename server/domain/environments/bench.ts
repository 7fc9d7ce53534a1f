import type { FamilyBench } from '#scripts/bench/family-bench.ts';

export const bench: FamilyBench = {
  lists: {
    environments: { order: 100, path: '/v1/environments' },
  },
};
