declare module "*.mlir" {
  const text: string;
  export default text;
}
