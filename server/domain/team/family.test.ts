import { testFamily } from '#server/testing/suites.ts';
import { team } from './family.ts';

await testFamily(team);
