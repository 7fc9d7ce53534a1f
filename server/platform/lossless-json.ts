// The module is part of the kernel, which the planes, schemas and the dashboard share. Modules of the workflows import it from here.
export { LosslessNumber, parseLossless, stringifyLossless } from '#server/kernel/lossless-json.ts';
