import { testFamily } from '#server/testing/suites.ts';
import { openapi } from './family.ts';

await testFamily(openapi);
