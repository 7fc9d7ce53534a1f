import { testFamily } from '#server/testing/suites.ts';
import { alertChannels } from './family.ts';

await testFamily(alertChannels);
