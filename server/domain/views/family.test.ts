import { testFamily } from '#server/testing/suites.ts';
import { views } from './family.ts';

await testFamily(views);
