import { testFamily } from '#server/testing/suites.ts';
import { sso } from './family.ts';

await testFamily(sso);
