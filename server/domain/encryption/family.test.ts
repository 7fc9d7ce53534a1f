import { testFamily } from '#server/testing/suites.ts';
import { encryption } from './family.ts';

await testFamily(encryption);
