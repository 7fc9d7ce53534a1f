// The form shows the stored spelling and the size of a range while it is typed, without the validator.
export { canonicalAddress, parseRange, rangeExtent } from '#server/kernel/address.ts';
