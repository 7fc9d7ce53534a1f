import { testFamily } from '#server/testing/suites.ts';
import { wrap } from './family.ts';

await testFamily(wrap);
