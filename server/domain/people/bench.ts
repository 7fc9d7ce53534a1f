import type { FamilyBench } from '#scripts/bench/family-bench.ts';

export const bench: FamilyBench = {
  lists: {
    sessions: { order: 270, path: '/auth/sessions', plane: 'dashboard' },
  },
};
