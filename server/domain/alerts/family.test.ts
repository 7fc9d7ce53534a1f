import { testFamily } from '#server/testing/suites.ts';
import { alerts } from './family.ts';

await testFamily(alerts);
