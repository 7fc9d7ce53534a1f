import assert from 'node:assert/strict';
import test from 'node:test';
import { taxIdProblem } from './tax-ids.shared.ts';

// Published numbers of companies and of the authorities' own documents.
const VALID =
  `ATU13585627 BE0428759497 DE136695976 DK13585628 EL094259216 ES54362315K ESX2482300W ESA13585625 ESB58378431 FI20774740 FR40303265045
  FR83404833048 HR33392005961 IT00743110157 LU15027442 NL004495445B01 NL123456789B13 PL8567346215 PT501964843 SE123456789701`.split(/\s+/);

test('the check digits of a VAT number are verified, whichever digit was mistyped', () => {
  for (const number of VALID) {
    assert.equal(taxIdProblem('eu_vat', number), undefined, number);
    for (const at of [...number.slice(2).matchAll(/\d/g)].map(({ index }) => index + 2)) {
      // A Swedish suffix is a counter. A Dutch number may follow one of two rules, so that one wrong digit can turn it into a right one of the other.
      if ((number.startsWith('SE') && at > 11) || number.startsWith('NL')) continue;
      const wrong = number.slice(0, at) + ((Number(number[at]) + 1) % 10) + number.slice(at + 1);
      assert.ok(taxIdProblem('eu_vat', wrong), wrong);
    }
  }
});

test('separators in a tax ID are allowed, and a number of no member state is refused', () => {
  assert.equal(taxIdProblem('eu_vat', 'BE 0428.759.497'), undefined);
  for (const wrong of ['NL004495446B01', 'NL123456789B14', '136695976', 'GB999999973', 'US123', 'GR094259216', 'DE12'])
    assert.ok(taxIdProblem('eu_vat', wrong), wrong);
});

test('an ABN has 11 digits with check digits', () => {
  for (const valid of ['51824753556', '53 004 085 616']) assert.equal(taxIdProblem('au_abn', valid), undefined);
  for (const wrong of ['51824753557', '5182475355', '00000000000', 'A1824753556']) assert.ok(taxIdProblem('au_abn', wrong), wrong);
});
