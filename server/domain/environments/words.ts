import type { Words } from '#server/kernel/words.ts';

export const about =
  'Stages such as production and staging. A call selects an environment with `X-Svc-Environment`. Each route serves the environments it is configured for.';

export const words: Words = {
  id: 'ID of the environment.',
  name: 'Name used in calls and references: lowercase letters, digits, `-` and `_`.',
  display_name: 'Display name.',
  description: 'Your description of the environment.',
  color: 'Color shown in the dashboard, such as `#6366f1`.',
  is_default: "Whether calls that don't select an environment use this one. Exactly one environment is the default.",
};
