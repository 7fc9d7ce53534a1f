// What the choices among the settings of an agent say.

export const BUDGET_OVERAGE = [
  { value: 'block', title: 'Refuse calls', description: 'Calls are refused until the budget resets or somebody raises it.' },
  { value: 'warn', title: 'Warn only', description: 'Calls go on, and an event says that the budget is spent.' },
] as const;

export const REGIONS = {
  us: 'United States',
  eu: 'European Union',
  uk: 'United Kingdom',
  ca: 'Canada',
  au: 'Australia',
  jp: 'Japan',
  in: 'India',
};

export const UNSUPPORTED = [
  { value: 'refuse', title: 'Refuse', description: 'The call is refused, and the error names the option.' },
  { value: 'drop', title: 'Drop', description: 'The call goes on without the option. Its log row lists what was dropped.' },
] as const;

export const UNPRICED = [
  { value: 'allow', title: 'Allow', description: 'They count tokens, but no dollars.' },
  { value: 'block', title: 'Refuse', description: 'Calls are refused while a budget applies.' },
] as const;
