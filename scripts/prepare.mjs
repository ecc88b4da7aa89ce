// Builds the bundle after `npm install` in a checkout, so that the first start is a fast one. Without the
// development packages, or on a Node that cannot read TypeScript, the install must still succeed.
try {
  await import('./build.ts');
} catch (error) {
  console.error(`talaria: no bundle was built (${error.code ?? error.message}); it will start from source`);
  process.exitCode = 0;
}
