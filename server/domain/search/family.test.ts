import { testFamily } from '#server/testing/suites.ts';
import { search } from './family.ts';

await testFamily(search);
