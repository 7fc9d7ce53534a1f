export const samples = {};

export const testedElsewhere = { 'auth.mailbox': 'answers on the machine of the dashboard only: sign-up.test.ts' };
