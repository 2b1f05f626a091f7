import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { start } from "./state/laboratory";
import { App } from "./view/app";

render(<App />, document.getElementById("page")!);
void start();
